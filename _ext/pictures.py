"""Give the pictures of notebooks their text alternative on the page.

A notebook keeps it in the output's metadata, where JupyterLab and nbconvert look;
MyST-NB reads only the cell's.
"""

from myst_nb.core.render import NbElementRenderer

render_image = NbElementRenderer.render_image


def render_image_with_alt(self, data):
    """Render as MyST-NB does, and take over the output's ``alt``."""
    nodes = render_image(self, data)
    alt = data.output_metadata.get(data.mime_type, {}).get("alt")
    if alt:
        for node in nodes:
            node["alt"] = alt
    return nodes


def setup(app):
    """Replace MyST-NB's renderer of images."""
    NbElementRenderer.render_image = render_image_with_alt
    return {"parallel_read_safe": True, "parallel_write_safe": True}
