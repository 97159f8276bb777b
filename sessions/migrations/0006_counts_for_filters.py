from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agent_sessions', '0005_assumed_window'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='boundary_count',
            field=models.PositiveIntegerField(default=0, help_text='Compactions and clearings by the agent itself.'),
        ),
        migrations.AddField(
            model_name='session',
            name='tool_error_count',
            field=models.PositiveIntegerField(default=0, help_text='Tool results that report a failure.'),
        ),
    ]
