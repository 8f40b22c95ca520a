// The table of contents of providers. Every one has settings; those that also tell have a sender.
import type { ProviderId } from '../names.ts'
import type { Provider, Sender } from '../provider.ts'
import { chat, chatSender } from './chat.ts'
import { chatWorkspace } from './chat-workspace.ts'
import { cloudEventBus } from './cloud-event-bus.ts'
import { eventLogApi } from './event-log-api.ts'
import { issueTracker } from './issue-tracker.ts'
import { monitoringPipelineVisibility } from './monitoring-pipeline-visibility.ts'
import { openTelemetryTracing } from './open-telemetry-tracing.ts'
import { webhook, webhookSender } from './webhook.ts'

export const providers: Readonly<Record<ProviderId, Provider>> = {
  webhook,
  chat,
  cloud_event_bus: cloudEventBus,
  monitoring_pipeline_visibility: monitoringPipelineVisibility,
  open_telemetry_tracing: openTelemetryTracing,
  event_log_api: eventLogApi,
  chat_workspace: chatWorkspace,
  issue_tracker: issueTracker,
}

const senders = {
  webhook: webhookSender,
  chat: chatSender,
} satisfies Partial<Record<ProviderId, Sender>>

type Silent = Exclude<ProviderId, keyof typeof senders>

/**
 * Providers that tell nothing, each with the reason. A provider is either here or among the senders: neither in both
 * nor in none does this compile.
 */
export const silent: Readonly<Record<Silent, string>> = {
  cloud_event_bus: 'has no sender yet',
  monitoring_pipeline_visibility: 'has no sender yet',
  open_telemetry_tracing: 'has no sender yet',
  event_log_api: 'is read by whoever asks',
  chat_workspace: 'has no sender yet',
  issue_tracker: 'has no sender yet',
}

export const findSender = (id: ProviderId): Sender | undefined => (id in silent ? undefined : table[id])

const table: Partial<Record<ProviderId, Sender>> = senders
