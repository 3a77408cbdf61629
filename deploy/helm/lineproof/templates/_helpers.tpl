{{- define "lineproof.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "lineproof.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains (include "lineproof.name" .) .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "lineproof.name" .) | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "lineproof.selector" -}}
app.kubernetes.io/name: {{ include "lineproof.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: service
{{- end }}

{{- define "lineproof.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ include "lineproof.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "lineproof.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- /* Numbers in values are floating point; a large one must not become 4.29e+09. */ -}}
{{- define "lineproof.text" -}}
{{- if kindIs "float64" . }}{{ int64 . | toString | quote }}{{ else }}{{ toString . | quote }}{{ end }}
{{- end }}

{{- /* The settings that are not secret. */ -}}
{{- define "lineproof.settings" -}}
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ include "lineproof.text" $value }}
{{- end }}
LINEPROOF_LISTEN: ":8080"
LINEPROOF_PRIVATE_LISTEN: ":8081"
LINEPROOF_PRIVATE_REMOTE: "true"
LINEPROOF_DATA: /var/lib/lineproof
LINEPROOF_DRAIN_DELAY: {{ printf "%ds" (int .Values.drain.delaySeconds) }}
LINEPROOF_DRAIN_TIMEOUT: {{ printf "%ds" (int .Values.drain.timeoutSeconds) }}
{{- if .Values.tls.secretName }}
LINEPROOF_TLS_CERT: /run/secrets/tls/tls.crt
LINEPROOF_TLS_KEY: /run/secrets/tls/tls.key
{{- else }}
LINEPROOF_PLAIN_HTTP: "true"
{{- end }}
{{- with .Values.trustedProxies }}
LINEPROOF_TRUSTED_PROXIES: {{ join "," . | quote }}
{{- end }}
{{- end }}

{{- define "lineproof.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "lineproof.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* What has no default. All of it is reported at once. */ -}}
{{- define "lineproof.check" -}}
{{- $missing := list }}
{{- if not .Values.image.repository }}
{{- $missing = append $missing "image.repository: where you have put the image" }}
{{- end }}
{{- if not .Values.secret.name }}
{{- $missing = append $missing "secret.name: the Secret with LINEPROOF_DATABASE_URL and LINEPROOF_PEPPERS" }}
{{- end }}
{{- if and .Values.migrate.enabled (not .Values.migrate.secretName) }}
{{- $missing = append $missing "migrate.secretName: the Secret with LINEPROOF_DATABASE_URL of the login that owns the tables" }}
{{- end }}
{{- $bucket := index .Values.settings "LINEPROOF_S3_ENDPOINT" }}
{{- if and (not $bucket) (not .Values.data.existingClaim) }}
{{- $missing = append $missing "settings.LINEPROOF_S3_ENDPOINT and the other settings of a bucket, or data.existingClaim: otherwise documents would be lost with the pod" }}
{{- end }}
{{- if and (not $bucket) .Values.data.existingClaim (gt (int .Values.replicaCount) 1) }}
{{- $missing = append $missing "replicaCount=1, or a bucket: several nodes can't share a directory" }}
{{- end }}
{{- if and (not .Values.tls.secretName) (not .Values.trustedProxies) }}
{{- $missing = append $missing "tls.secretName, or trustedProxies: the networks of the proxies that terminate TLS before the pods" }}
{{- end }}
{{- if not (index .Values.settings "LINEPROOF_PUBLIC_URL") }}
{{- $missing = append $missing "settings.LINEPROOF_PUBLIC_URL: the address that callers use, which begins with https://" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- $missing = append $missing "ingress.host: the name by which callers reach the service" }}
{{- end }}
{{- if $missing }}
{{- fail (printf "\n\nSet these values:\n  - %s\n" (join "\n  - " $missing)) }}
{{- end }}
{{- end }}
