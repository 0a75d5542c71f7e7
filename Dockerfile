# The service with its verbs, and the converter of exports, as two static binaries in an empty image. docs/operations.md says how to run it;
# compose.yaml runs a service and a worker over a Supabase project.
FROM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY internal internal
COPY scripts/convert scripts/convert
COPY server server
COPY supabase supabase
# docker build --build-arg REVISION=$(git rev-parse HEAD): what `tasklens version` prints. In a release's build context
# both are set, and the program is byte for byte that of the release.
ARG VERSION=
ARG REVISION=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags="-s -w -X main.release=$VERSION -X main.revision=$REVISION" -o /out/ ./server ./scripts/convert

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/server /tasklens
COPY --from=build /out/convert /tasklens-convert
# A container listens on every address, which the program allows only with AUTH=on.
ENV HOST=0.0.0.0 PORT=8080 AUTH=on LOG_FORMAT=json
EXPOSE 8080
USER 65532:65532
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["/tasklens", "health"]
ENTRYPOINT ["/tasklens"]
CMD ["serve"]
