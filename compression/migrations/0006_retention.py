from typing import Any

from django.db import migrations, models


def fill(apps: Any, schema_editor: Any) -> None:
    """Results of runs that are over have these figures in their summary, where their engine knew them."""
    results = apps.get_model("compression", "RunResult").objects.filter(state="done").only("summary")
    for result in results.iterator(chunk_size=200):
        needed = result.summary.get("rlr_n") or 0
        if needed:
            result.rlr_n = needed
            result.rlr_view = result.summary["rlr_view"]
            result.rlr_kept = round(result.summary["rlr_view"] * needed)
            result.rlr_reached = round(result.summary["rlr_reach"] * needed)
            result.save(update_fields=["rlr_n", "rlr_view", "rlr_kept", "rlr_reached"])


class Migration(migrations.Migration):
    dependencies = [
        ("compression", "0005_live_agents"),
    ]

    operations = [
        migrations.AddField(
            model_name="runresult",
            name="rlr_kept",
            field=models.PositiveIntegerField(default=0, help_text="Those of them still in view."),
        ),
        migrations.AddField(
            model_name="runresult",
            name="rlr_n",
            field=models.PositiveIntegerField(default=0, help_text="Names needed after they had left or been stubbed."),
        ),
        migrations.AddField(
            model_name="runresult",
            name="rlr_reached",
            field=models.PositiveIntegerField(default=0, help_text="Those of them in view or reachable."),
        ),
        migrations.AddField(
            model_name="runresult",
            name="rlr_view",
            field=models.FloatField(null=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
