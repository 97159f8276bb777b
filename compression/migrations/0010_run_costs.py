from django.db import migrations, models


def money(text=""):
    return models.DecimalField(decimal_places=12, help_text=text, max_digits=24, null=True)


class Migration(migrations.Migration):
    dependencies = [("compression", "0009_project_prices")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="prices_digest",
            field=models.CharField(
                blank=True, default="", help_text="Of the project's own prices, if any.", max_length=64
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="runresult",
            name="ladder",
            field=models.PositiveIntegerField(help_text="Steps of the fallback ladder.", null=True),
        ),
        migrations.AddField(model_name="runresult", name="cost_usd", field=money()),
        migrations.AddField(
            model_name="runresult",
            name="cost_usd_none",
            field=money("Had no policy acted, with the same cache."),
        ),
        migrations.AddField(model_name="runresult", name="cache_read", field=models.PositiveBigIntegerField(null=True)),
        migrations.AddField(
            model_name="runresult", name="cache_write", field=models.PositiveBigIntegerField(null=True)
        ),
        migrations.AddField(
            model_name="runresult", name="cache_uncached", field=models.PositiveBigIntegerField(null=True)
        ),
        migrations.AddField(
            model_name="runresult",
            name="rewrites",
            field=models.PositiveIntegerField(help_text="Calls that sent a living prefix anew.", null=True),
        ),
        migrations.AddField(
            model_name="runresult",
            name="expiries",
            field=models.PositiveIntegerField(help_text="Calls that found their prefix expired.", null=True),
        ),
        migrations.AddField(
            model_name="runresult",
            name="unforced_breaks",
            field=models.PositiveIntegerField(help_text="What moved in the prefix without an event.", null=True),
        ),
        migrations.AddField(
            model_name="runresult",
            name="break_even",
            field=models.FloatField(help_text="Calls until an event has paid, median of its events.", null=True),
        ),
    ]
