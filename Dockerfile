# syntax=docker/dockerfile:1

# Build anywhere for any platform: the binary is pure Go, so nothing is emulated.
FROM --platform=$BUILDPLATFORM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=dev
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -tags nomsgpack -buildvcs=false \
      -ldflags "-s -w -X levelboard/internal/cli.version=$VERSION" -o /out/levelboard ./cmd/levelboard \
 && mkdir -p /out/data /out/tmp

FROM scratch
ARG VERSION=dev
LABEL org.opencontainers.image.title="Levelboard" \
      org.opencontainers.image.description="XP, levels and leaderboards for chat communities, over a REST API" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION"
# Certificates for rediss:// and for Postgres over TLS; /tmp for SQLite's larger sorts.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=65532:65532 /out/tmp /tmp
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build /out/levelboard /usr/bin/levelboard
USER 65532:65532
ENV LEVELBOARD_LISTEN=:8080 \
    LEVELBOARD_OPS_LISTEN=:9464 \
    LEVELBOARD_DATA_DIR=/data
# Used only without LEVELBOARD_REDIS_URL and LEVELBOARD_POSTGRES_URL, when the service is embedded.
VOLUME /data
EXPOSE 8080 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["/usr/bin/levelboard", "healthcheck"]
ENTRYPOINT ["/usr/bin/levelboard"]
CMD ["serve"]
