"""Users, projects and clients that many tests start from."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from sessions.models import Membership, Project


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def stranger(db: None) -> User:
    return User.objects.create_user("mallory")


@pytest.fixture
def project(user: User) -> Project:
    """A project that ``user`` is a member of and ``stranger`` is not."""
    project = Project.objects.create(name="Apollo", slug="apollo")
    Membership.objects.create(project=project, user=user, role=Membership.Role.OWNER)
    return project


@pytest.fixture
def other_project(stranger: User) -> Project:
    project = Project.objects.create(name="Zeus", slug="zeus")
    Membership.objects.create(project=project, user=stranger, role=Membership.Role.OWNER)
    return project


@pytest.fixture
def signed_in(user: User, client: Client) -> Client:
    client.force_login(user)
    return client
