// The addresses in the `notify` of pipelines.
import type { NotifyEntry } from '@millrace/engine/steps/types.ts'

export interface Target {
  kind: 'email' | 'webhook' | 'slack' | 'basecamp_campfire' | 'pagerduty_change_event'
  to: string
  /** For chats: the workspace, by default the first one, and a text to append. */
  workspace?: string
  message?: string
}

const plain = ['email', 'webhook', 'basecamp_campfire', 'pagerduty_change_event'] as const

export function targetsOf({ service, settings }: NotifyEntry): Target[] {
  if (service === 'slack') return chatTargets(settings)
  const kind = plain.find((name) => name === service)
  return kind === undefined || typeof settings !== 'string' ? [] : [{ kind, to: settings.trim() }]
}

/** `#channel`, `@person` or an id, optionally after the name of a workspace. */
function chatTargets(settings: unknown): Target[] {
  const { channels, message } =
    typeof settings === 'object' && settings !== null
      ? (settings as { channels?: unknown; message?: unknown })
      : { channels: settings, message: null }
  return [channels].flat().flatMap((channel): Target[] => {
    if (typeof channel !== 'string' || channel.trim() === '') return []
    const [, workspace = '', to = ''] = /^([^#@]*)([#@].+)$/.exec(channel.trim()) ?? ['', '', channel.trim()]
    return [
      {
        kind: 'slack',
        to,
        ...(workspace === '' ? {} : { workspace }),
        ...(typeof message === 'string' && message.trim() !== '' ? { message: message.slice(0, 4000) } : {}),
      },
    ]
  })
}
