from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agent_sessions', '0004_link_stored_originals'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='window_tokens',
            field=models.PositiveBigIntegerField(help_text='What a policy takes for the window.', null=True),
        ),
        migrations.AlterField(
            model_name='session',
            name='context_window',
            field=models.PositiveBigIntegerField(help_text='What the log states.', null=True),
        ),
    ]
