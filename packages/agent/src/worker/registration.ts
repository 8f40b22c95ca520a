import { hostname, platform, release, type as systemType } from 'node:os'
import type { RegisterRequest } from '@millrace/protocol/agents.ts'
import type { Settings } from '../settings.ts'
import { VERSION } from '../version.ts'
import { processorName, withHostTags } from './host-tags.ts'

export function registrationOf(settings: Settings, number: number): RegisterRequest {
  return {
    name: settings.name.replaceAll('%spawn', String(number)),
    hostname: hostname(),
    os: `${systemType()} ${release()} (${platform()})`,
    arch: processorName(),
    version: VERSION,
    build: 'millrace',
    script_eval_enabled: true,
    ignore_in_dispatches: settings.acquireJob !== null,
    ...(settings.priority === null ? {} : { priority: String(settings.priority) }),
    meta_data: withHostTags(settings.tags),
    pid: process.pid,
    features: featuresOf(settings),
  }
}

function featuresOf(settings: Settings): string[] {
  const features = {
    'repository-relay': true,
    'streaming-pings': settings.pingMode !== 'poll-only',
    'acquire-job': settings.acquireJob !== null,
    'disconnect-after-job': settings.disconnectAfterJob,
    'disconnect-after-idle': settings.disconnectAfterIdleSeconds !== null,
    'no-plugins': !settings.plugins,
    'allowed-repositories': settings.allowedRepositories !== null,
    'allowed-plugins': settings.allowedPlugins !== null,
  }
  return Object.entries(features).flatMap(([name, isOn]) => (isOn ? [name] : []))
}
