{{- define "workflow.name" -}}
{{- printf "%s" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that never change: selectors of Deployments are immutable. Arguments: the root, and the component. */}}
{{- define "workflow.selector" -}}
app.kubernetes.io/name: workflow-automation
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "workflow.labels" -}}
{{ include "workflow.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Arguments: repository, tag, digest. */}}
{{- define "workflow.image" -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag }}{{ end -}}
{{- end -}}

{{- define "workflow.tag" -}}
{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "workflow.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "workflow.containerSecurity" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end -}}

{{/* DATABASE_URL of a process. Arguments: the root, and the Secret. */}}
{{- define "workflow.databaseUrl" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      {{- if .root.Values.database.cluster.enabled }}
      name: {{ include "workflow.name" .root }}-db-app
      key: uri
      {{- else }}
      name: {{ .secret }}
      key: DATABASE_URL
      {{- end }}
{{- end -}}

{{/* Variables of the API and of every worker. */}}
{{- define "workflow.sharedEnv" -}}
{{ include "workflow.databaseUrl" (dict "root" . "secret" .Values.existingSecret) }}
- name: SECRETS_KEY
  valueFrom: { secretKeyRef: { name: {{ .Values.existingSecret }}, key: SECRETS_KEY } }
{{- range list "TEMPORAL_API_KEY" "TEMPORAL_PAYLOAD_KEY" "OPENAI_API_KEY" }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $.Values.existingSecret }}, key: {{ . }}, optional: true } }
{{- end }}
{{- end -}}

{{- define "workflow.plainEnv" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "workflow.envFrom" -}}
- configMapRef: { name: {{ include "workflow.name" . }} }
{{- range .Values.extraSecrets }}
- secretRef: { name: {{ . }} }
{{- end }}
{{- end -}}

{{/* Pods start anew when their settings change. */}}
{{- define "workflow.podAnnotations" -}}
checksum/config: {{ include (print .root.Template.BasePath "/configmap.yaml") .root | sha256sum }}
{{- with .annotations }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "workflow.volumeMounts" -}}
{{- if .Values.files.existingClaim }}
- { name: files, mountPath: /var/lib/workflow-files }
{{- end }}
{{- if .Values.modelProviders }}
- { name: providers, mountPath: /etc/workflow-automation, readOnly: true }
{{- end }}
{{- end -}}

{{- define "workflow.volumes" -}}
{{- with .Values.files.existingClaim }}
- name: files
  persistentVolumeClaim: { claimName: {{ . }} }
{{- end }}
{{- if .Values.modelProviders }}
- name: providers
  configMap:
    name: {{ include "workflow.name" . }}-providers
{{- end }}
{{- end -}}

{{/* Pods of one kind stand on different hosts where there are several. */}}
{{- define "workflow.spread" -}}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: {{- include "workflow.selector" . | nindent 6 }}
{{- end -}}
