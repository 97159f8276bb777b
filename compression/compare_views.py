from django.http import HttpResponse
def compare(request, slug): return HttpResponse("x")
