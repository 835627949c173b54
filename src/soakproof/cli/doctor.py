"""stub"""

import click


@click.command()
def doctor() -> int:
    return 0
