import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agent_sessions', '0002_kept_answers'),
    ]

    operations = [
        migrations.AddField(
            model_name='message',
            name='original',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='messages', to='agent_sessions.original'),
        ),
    ]
