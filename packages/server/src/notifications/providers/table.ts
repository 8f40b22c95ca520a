// All providers. Each has settings, and all but the event log have a sender.
import type { ProviderId } from '../names.ts'
import type { Provider, Sender } from '../provider.ts'
import { chat, chatSender } from './chat.ts'
import { chatWorkspace, chatWorkspaceSender } from './chat-workspace.ts'
import { cloudEventBus, cloudEventBusSender } from './cloud-event-bus.ts'
import { eventLogApi, logWants } from './event-log-api.ts'
import { issueTracker, issueTrackerSender } from './issue-tracker.ts'
import {
  monitoringPipelineVisibility,
  monitoringPipelineVisibilitySender,
} from './monitoring-pipeline-visibility.ts'
import { openTelemetryTracing, openTelemetryTracingSender } from './open-telemetry-tracing.ts'
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

const senders: Readonly<Record<Exclude<ProviderId, 'event_log_api'>, Sender>> = {
  webhook: webhookSender,
  chat: chatSender,
  cloud_event_bus: cloudEventBusSender,
  monitoring_pipeline_visibility: monitoringPipelineVisibilitySender,
  open_telemetry_tracing: openTelemetryTracingSender,
  chat_workspace: chatWorkspaceSender,
  issue_tracker: issueTrackerSender,
}

export const findSender = (id: ProviderId): Sender | undefined =>
  id === 'event_log_api' ? undefined : senders[id]

/** Undefined: the provider of a newer release. */
export const findWants = (id: ProviderId): Sender['wants'] | undefined =>
  id === 'event_log_api' ? logWants : findSender(id)?.wants
