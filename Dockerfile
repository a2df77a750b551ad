# One image for the gateway and the worker; which of them a container is, its command says.
FROM python:3.12-slim

WORKDIR /koda
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
COPY selfcheck ./selfcheck
RUN PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt pip install --no-cache-dir .

# Whose exercises run: KODA_TREE, by default this folder of the current directory.
COPY solution ./solution

RUN useradd --system --no-create-home koda
USER koda

CMD ["python", "-m", "gateway"]
