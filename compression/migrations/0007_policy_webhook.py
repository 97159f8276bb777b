import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0009_password_tries"),
        ("compression", "0006_retention"),
    ]

    operations = [
        migrations.CreateModel(
            name="PolicyWebhook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.CharField(max_length=500, verbose_name="address")),
                ("secret", models.CharField(max_length=200, verbose_name="secret")),
                ("set_at", models.DateTimeField(auto_now=True, verbose_name="set")),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="policy_webhook",
                        to="agent_sessions.project",
                    ),
                ),
            ],
            options={
                "verbose_name": "policy webhook",
                "verbose_name_plural": "policy webhooks",
            },
        ),
        migrations.CreateModel(
            name="PolicyDelivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("event", models.CharField(max_length=40)),
                ("body", models.TextField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("delivered", "delivered"), ("failed", "failed")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "status",
                    models.PositiveSmallIntegerField(help_text="What the last attempt was answered.", null=True),
                ),
                (
                    "error",
                    models.CharField(
                        blank=True, help_text="What was wrong with the last attempt, in words.", max_length=300
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("tried_at", models.DateTimeField(null=True)),
                (
                    "webhook",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="deliveries",
                        to="compression.policywebhook",
                    ),
                ),
            ],
            options={
                "verbose_name": "policy delivery",
                "verbose_name_plural": "policy deliveries",
                "ordering": ["-pk"],
            },
        ),
    ]
