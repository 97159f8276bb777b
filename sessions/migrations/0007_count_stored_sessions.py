from django.db import migrations


def count(apps, schema_editor):
    """Give the stored sessions the two counts, from their boundaries and from the parts of their results."""
    sessions = apps.get_model('agent_sessions', 'Session').objects
    messages = apps.get_model('agent_sessions', 'Message').objects
    for session in sessions.only('boundaries').iterator(chunk_size=100):
        results = messages.filter(session=session, role='tool').values_list('parts', flat=True)
        errors = sum(bool(part.get('is_error')) for parts in results.iterator(chunk_size=500) for part in parts)
        sessions.filter(pk=session.pk).update(boundary_count=len(session.boundaries), tool_error_count=errors)


class Migration(migrations.Migration):

    dependencies = [
        ('agent_sessions', '0006_counts_for_filters'),
    ]

    operations = [
        migrations.RunPython(count, migrations.RunPython.noop, elidable=True),
    ]
