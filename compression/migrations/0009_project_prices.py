import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0009_password_tries"),
        ("compression", "0008_sweeps"),
    ]

    operations = [
        migrations.CreateModel(
            name="ProjectPrices",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("unknown", "only for models that no table of prices knows"),
                            ("all", "for every model, in place of the table"),
                        ],
                        default="unknown",
                        max_length=10,
                        verbose_name="what they are for",
                    ),
                ),
                ("input", models.DecimalField(decimal_places=6, max_digits=12, verbose_name="input")),
                ("output", models.DecimalField(decimal_places=6, max_digits=12, verbose_name="output")),
                (
                    "cache_read",
                    models.DecimalField(decimal_places=6, max_digits=12, verbose_name="read from the cache"),
                ),
                (
                    "cache_write",
                    models.DecimalField(
                        decimal_places=6, max_digits=12, verbose_name="written to the cache for 5 minutes"
                    ),
                ),
                (
                    "cache_write_long",
                    models.DecimalField(
                        decimal_places=6, max_digits=12, verbose_name="written to the cache for an hour"
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=200, verbose_name="where they come from")),
                ("set_at", models.DateTimeField(auto_now=True, verbose_name="set")),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="prices",
                        to="agent_sessions.project",
                    ),
                ),
            ],
            options={
                "verbose_name": "prices of a project",
                "verbose_name_plural": "prices of projects",
            },
        ),
        migrations.RemoveConstraint(model_name="storedreplay", name="one_replay_per_session_and_policy"),
        migrations.AddField(
            model_name="storedreplay",
            name="prices_digest",
            field=models.CharField(
                blank=True, default="", help_text="Of the project's own prices, if any.", max_length=64
            ),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="storedreplay",
            constraint=models.UniqueConstraint(
                fields=("session", "policy_digest", "history", "engine_version", "revision", "prices_digest"),
                name="one_replay_per_session_and_policy",
            ),
        ),
    ]
