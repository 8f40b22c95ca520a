{{- define "millrace.name" -}}
{{- if contains .Chart.Name .Release.Name -}}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{- else -}}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{- end -}}
{{- end }}

{{- define "millrace.selector" -}}
app.kubernetes.io/name: millrace
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "millrace.labels" -}}
{{ include "millrace.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* Takes a dictionary of the root and the image. */}}
{{- define "millrace.image" -}}
{{- with .image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ .tag | default $.root.Chart.AppVersion }}{{- end -}}
{{- end -}}
{{- end }}

{{- define "millrace.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "millrace.name" .) }}
{{- end }}

{{/* The settings of the server, the worker and the migration. Hooks run before other objects exist, so these are inline. */}}
{{- define "millrace.environment" -}}
envFrom:
  - secretRef:
      name: {{ required "existingSecret must name a secret with DATABASE_URL and MILLRACE_SECRET_KEY" .Values.existingSecret }}
env:
  - name: MILLRACE_URL
    value: {{ required "url must be the address that people use" .Values.url | quote }}
  - name: MILLRACE_DRAIN_SECONDS
    value: {{ .Values.drainSeconds | quote }}
  - name: MILLRACE_METRICS_LISTEN
    value: 0.0.0.0:9464
  {{- if .Values.blobs }}
  - name: MILLRACE_BLOBS
    value: {{ .Values.blobs | quote }}
  {{- else if not .Values.data.existingClaim }}
  {{- fail "blobs must be the address of an S3 bucket, or data.existingClaim the name of a volume that all pods can write" }}
  {{- end }}
  {{- with .Values.trustedProxies }}
  - name: MILLRACE_TRUSTED_PROXIES
    value: {{ join "," . | quote }}
  {{- end }}
  {{- if .Values.hosted.enabled }}
  - name: MILLRACE_HOSTED
    value: kubernetes:{{ required "hosted.namespace must name the namespace of hosted jobs" .Values.hosted.namespace }}
  - name: MILLRACE_HOSTED_REGISTRY
    value: {{ required "hosted.registry must be the prefix of the names of built images" .Values.hosted.registry | quote }}
  - name: MILLRACE_HOSTED_ENDPOINT
    value: http://{{ include "millrace.name" . }}.{{ .Release.Namespace }}.svc:{{ .Values.service.port }}/v3
  {{- with .Values.hosted.registrySecret }}
  - name: MILLRACE_HOSTED_REGISTRY_SECRET
    value: {{ . | quote }}
  {{- end }}
  {{- end }}
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ $value | toString | quote }}
  {{- end }}
{{- end }}

{{- define "millrace.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "millrace.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "millrace.mounts" -}}
- { name: data, mountPath: /var/lib/millrace }
- { name: tmp, mountPath: /tmp }
{{- end }}

{{- define "millrace.volumes" -}}
- name: data
  {{- with .Values.data.existingClaim }}
  persistentVolumeClaim:
    claimName: {{ . }}
  {{- else }}
  emptyDir: {}
  {{- end }}
- name: tmp
  emptyDir: {}
{{- end }}

{{/* Takes a dictionary of the root and the component. Pods go to different nodes and zones where there are any. */}}
{{- define "millrace.placement" -}}
{{- $part := index .root.Values .component -}}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "millrace.selector" $.root | nindent 8 }}
        app.kubernetes.io/component: {{ $.component }}
  {{- end }}
{{- with $part.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $part.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $part.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
