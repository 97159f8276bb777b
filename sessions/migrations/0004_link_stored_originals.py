from django.db import migrations

AT_ONCE = 1000


def link(apps, schema_editor):
    """Point the stored tool messages to the originals that their parts name."""
    messages = apps.get_model('agent_sessions', 'Message').objects
    originals = apps.get_model('agent_sessions', 'Original').objects
    last = 0
    while True:
        rows = list(messages.filter(role='tool', pk__gt=last).order_by('pk').only('parts')[:AT_ONCE])
        if not rows:
            return
        last = rows[-1].pk
        named = {row.pk: next((part['original'] for part in row.parts if 'original' in part), None) for row in rows}
        stored = set(originals.filter(pk__in=set(named.values())).values_list('pk', flat=True))
        for row in rows:
            row.original_id = named[row.pk] if named[row.pk] in stored else None
        messages.bulk_update(rows, ['original'], batch_size=200)


class Migration(migrations.Migration):

    dependencies = [
        ('agent_sessions', '0003_original_of_a_message'),
    ]

    operations = [
        migrations.RunPython(link, migrations.RunPython.noop, elidable=True),
    ]
