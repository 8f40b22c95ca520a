import { checkCondition } from '../../conditions/check.ts'
import { nearestName } from '../../nearest-name.ts'
import { describeNode, plainValue } from '../../source.ts'
import type { SourceEntry, SourceMap, SourceNode } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import type { Report } from '../report.ts'
import type { NotifyEntry } from '../types.ts'
import { isNull, readName, readText, readTexts, wrong } from '../values.ts'

type Service = NotifyEntry['service']
type Level = 'build' | 'group' | 'step'

const MAX_ENTRIES = 100
const STEP_SERVICES: readonly Service[] = [
  'slack',
  'basecamp_campfire',
  'github_commit_status',
  'github_check',
]
const BUILD_SERVICES: readonly Service[] = [...STEP_SERVICES, 'email', 'webhook', 'pagerduty_change_event']

export function readNotify(entry: SourceEntry | undefined, level: Level, report: Report): NotifyEntry[] {
  if (!entry || isNull(entry.value)) return []
  if (entry.value.kind !== 'list') {
    wrong(entry, 'a list', report)
    return []
  }
  if (entry.value.items.length > MAX_ENTRIES) {
    report.problem(entry.value, '`notify` has too many entries', { expected: `at most ${MAX_ENTRIES}` })
    return []
  }
  return entry.value.items.flatMap((item) => readItem(item, level, report) ?? [])
}

function readItem(item: SourceNode, level: Level, report: Report): NotifyEntry | null {
  if (item.kind === 'scalar') {
    const service = BUILD_SERVICES.find((name) => name === item.value && name.startsWith('github_'))
    if (service) return { service, settings: null, condition: null }
  }
  if (item.kind !== 'map') {
    report.problem(item, `\`notify\` cannot contain ${describeNode(item)}`, {
      expected: 'a map with the name of a service, `github_check` or `github_commit_status`',
    })
    return null
  }
  const entry = findService(item, level, report)
  if (!entry) return null
  checkSettings(entry.service, entry.at, report)
  const condition = readCondition(item, level, report)
  return { service: entry.service, settings: plainValue(entry.at.value), condition }
}

function findService(
  map: SourceMap,
  level: Level,
  report: Report,
): { service: Service; at: SourceEntry } | null {
  const allowed = level === 'step' ? STEP_SERVICES : BUILD_SERVICES
  let found: { service: Service; at: SourceEntry } | null = null
  for (const entry of map.entries) {
    if (entry.key === 'if') continue
    const service = allowed.find((name) => name === entry.key)
    if (service && !found) found = { service, at: entry }
    else if (service) report.problem(entry, 'an entry of `notify` names one service only')
    else reportUnknown(entry, level, allowed, report)
  }
  if (!found && map.entries.every((entry) => entry.key === 'if')) {
    report.problem(map, 'an entry of `notify` names no service', { expected: `one of ${allowed.join(', ')}` })
  }
  return found
}

function reportUnknown(entry: SourceEntry, level: Level, allowed: readonly Service[], report: Report): void {
  const isElsewhere = BUILD_SERVICES.some((name) => name === entry.key)
  const message = isElsewhere
    ? `\`${entry.key}\` can only notify about a whole build or a group, not about a step`
    : `\`${entry.key}\` is not a notification service`
  report.problem(entry, message, () => ({
    expected: `one of ${allowed.join(', ')}${level === 'step' ? ', as a step allows' : ''}`,
    suggestion: isElsewhere ? null : nearestName(entry.key, allowed),
  }))
}

function checkSettings(service: Service, entry: SourceEntry, report: Report): void {
  const { value } = entry
  if (service === 'github_check' || service === 'github_commit_status') {
    if (value.kind !== 'map' && !isNull(value)) wrong(entry, 'a map of settings', report)
    return
  }
  if (service === 'slack' && value.kind === 'map') {
    const attributes = readAttributes(value, { owner: '`slack`', names: ['channels', 'message'] }, report)
    const channels = readTexts(attributes.get('channels'), report)
    if (!channels || channels.length === 0) report.problem(entry, '`slack` needs `channels`')
    readText(attributes.get('message'), report)
    return
  }
  if (isNull(value)) wrong(entry, 'a string', report)
  else readName(entry, report)
}

/** A mistake here silences one notification; it is no reason to refuse the pipeline. */
function readCondition(map: SourceMap, level: Level, report: Report): string | null {
  const entry = map.entries.find(({ key }) => key === 'if')
  const source = readText(entry, report)
  if (!entry || source === null || source.trim() === '') return null
  const checked = checkCondition(source, level === 'build' ? 'build-notify' : 'step-notify')
  if (!checked.ok) {
    report.warning(
      entry.value,
      `this notification will never be sent, its condition is not valid: ${checked.message}`,
    )
  }
  return source
}
