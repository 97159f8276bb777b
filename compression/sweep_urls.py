"""Addresses of sweeps, below the address of their project."""

from __future__ import annotations

from django.urls import path

from compression import sweep_views

sweep_urls = [
    path("", sweep_views.project_sweeps, name="sweeps"),
    path("<id:pk>/", sweep_views.sweep_detail, name="sweep"),
    path("<id:pk>/progress/", sweep_views.sweep_progress, name="sweep-progress"),
    path("<id:pk>/scatter/", sweep_views.sweep_scatter, name="sweep-scatter"),
    path("<id:pk>/heat/", sweep_views.sweep_heat, name="sweep-heat"),
    path("<id:pk>/cancel/", sweep_views.sweep_cancel, name="sweep-cancel"),
    path("<id:pk>/resume/", sweep_views.sweep_resume, name="sweep-resume"),
    path("<id:pk>/trials/<int:number>/", sweep_views.trial_detail, name="trial"),
    path("<id:pk>/trials/<int:number>/adopt/", sweep_views.trial_adopt, name="trial-adopt"),
]
