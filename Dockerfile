# Build anywhere for any platform: the binary is pure Go, so nothing is emulated.
FROM --platform=$BUILDPLATFORM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=dev
RUN export GOOS=$TARGETOS GOARCH=$TARGETARCH VERSION=$VERSION \
 && make static OUT=/out/levelboard && make static PROGRAM=levelboard-bot OUT=/out/levelboard-bot \
 && mkdir -p /out/owned/data && mkdir -m 1777 /out/owned/tmp \
 && scripts/licenses /out/levelboard /out/levelboard-bot > /out/THIRD-PARTY-LICENSES

# The Discord bot: docker build --target bot.
FROM scratch AS bot
ARG VERSION=dev REVISION=unknown SOURCE=unknown
LABEL org.opencontainers.image.title="Levelboard's Discord bot" \
      org.opencontainers.image.description="Connects Discord guilds to a Levelboard" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.source="$SOURCE"
COPY LICENSE /LICENSE
COPY --from=build /out/THIRD-PARTY-LICENSES /THIRD-PARTY-LICENSES
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=65532:65532 /out/owned /
COPY --from=build /out/levelboard-bot /usr/bin/levelboard-bot
USER 65532:65532
ENV PATH=/usr/bin \
    LEVELBOARD_OPS_LISTEN=:9465 \
    LEVELBOARD_BOT_DATA=/data
VOLUME /data
EXPOSE 9465
HEALTHCHECK --interval=10s --timeout=4s --start-period=1m --retries=3 CMD ["/usr/bin/levelboard-bot", "healthcheck"]
ENTRYPOINT ["/usr/bin/levelboard-bot"]

FROM scratch
ARG VERSION=dev REVISION=unknown SOURCE=unknown
LABEL org.opencontainers.image.title="Levelboard" \
      org.opencontainers.image.description="XP, levels and leaderboards for chat communities, over a REST API" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.source="$SOURCE"
COPY LICENSE /LICENSE
COPY --from=build /out/THIRD-PARTY-LICENSES /THIRD-PARTY-LICENSES
# Certificates for rediss://, Postgres and the sign-in over TLS.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
# /data, and /tmp for SQLite's larger sorts. A tmpfs that is mounted at /tmp belongs to root and takes over the mode alone, so all
# may write there. In one step: COPY keeps the modes of what is in a directory, and not its own.
COPY --from=build --chown=65532:65532 /out/owned /
COPY --from=build /out/levelboard /usr/bin/levelboard
# It has no fonts: mount a folder of some and name it in LEVELBOARD_FONT_DIR for names in every script (docs/cards.md).
USER 65532:65532
ENV PATH=/usr/bin \
    LEVELBOARD_LISTEN=:8080 \
    LEVELBOARD_OPS_LISTEN=:9464 \
    LEVELBOARD_DATA_DIR=/data
# Used only without LEVELBOARD_REDIS_URL and LEVELBOARD_POSTGRES_URL, when the service is embedded.
VOLUME /data
EXPOSE 8080 9464
HEALTHCHECK --interval=10s --timeout=4s --start-period=30s --retries=3 CMD ["/usr/bin/levelboard", "healthcheck"]
ENTRYPOINT ["/usr/bin/levelboard"]
CMD ["serve"]
