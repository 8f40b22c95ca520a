import { describeNode } from '../../source.ts'
import type { SourceEntry, SourceNode } from '../../source.ts'
import { nearestName } from '../../nearest-name.ts'
import { readAttributes } from '../read-attributes.ts'
import type { Report } from '../report.ts'
import type { AutomaticRetry, RetryRules } from '../types.ts'
import { integerOf, isNull, readBoolean, readInteger, readText, readTexts, wrong } from '../values.ts'

const ANY: AutomaticRetry = { exitStatus: '*', signal: '*', signalReason: '*', limit: 2 }
const MAX_LIMIT = 10
const EXIT_STATUS = { min: -1, max: 255 }
const SIGNAL_REASONS = [
  'none',
  'cancel',
  'agent_stop',
  'agent_refused',
  'agent_incompatible',
  'process_run_error',
  'signature_rejected',
  'stack_error',
]

export function readRetry(entry: SourceEntry | undefined, report: Report): RetryRules {
  const manual = { allowed: true, permitOnPassed: false, reason: null }
  if (!entry || isNull(entry.value)) return { automatic: [], manual }
  if (entry.value.kind !== 'map') {
    wrong(entry, 'a map with `automatic` or `manual`', report)
    return { automatic: [], manual }
  }
  const attributes = readAttributes(entry.value, { owner: '`retry`', names: ['automatic', 'manual'] }, report)
  return {
    automatic: readAutomatic(attributes.get('automatic'), report),
    manual: readManual(attributes.get('manual'), report),
  }
}

function readAutomatic(entry: SourceEntry | undefined, report: Report): AutomaticRetry[] {
  if (!entry || isNull(entry.value)) return []
  if (entry.value.kind === 'scalar') return readBoolean(entry, report) ? [ANY] : []
  const rules = entry.value.kind === 'list' ? entry.value.items : [entry.value]
  return rules.map((rule) => readRule(rule, report))
}

function readRule(rule: SourceNode, report: Report): AutomaticRetry {
  if (rule.kind !== 'map') {
    report.problem(rule, `\`retry.automatic\` cannot contain ${describeNode(rule)}`, { expected: 'a map' })
    return ANY
  }
  const attributes = readAttributes(
    rule,
    { owner: '`retry.automatic`', names: ['exit_status', 'signal', 'signal_reason', 'limit'] },
    report,
  )
  return {
    exitStatus: readExitStatus(attributes.get('exit_status'), report),
    signal: readSignals(attributes.get('signal'), report),
    signalReason: readReasons(attributes.get('signal_reason'), report),
    limit: readInteger(attributes.get('limit'), { min: 0, max: MAX_LIMIT }, report) ?? ANY.limit,
  }
}

function readExitStatus(entry: SourceEntry | undefined, report: Report): '*' | number[] {
  if (!entry || isNull(entry.value)) return '*'
  const items = entry.value.kind === 'list' ? entry.value.items : [entry.value]
  if (items.some((item) => item.kind === 'scalar' && item.value === '*')) return '*'
  return items.flatMap((item) => {
    const status = integerOf(item, EXIT_STATUS)
    if (status !== null) return [status]
    report.problem(item, `\`exit_status\` cannot be ${describeNode(item)}`, {
      expected: '"*", -1 or 0 to 255',
    })
    return []
  })
}

function readSignals(entry: SourceEntry | undefined, report: Report): '*' | string[] {
  const words = readTexts(entry, report)
  if (!words || words.includes('*')) return '*'
  return words.map((word) => word.toUpperCase().replace(/^SIG/, ''))
}

function readReasons(entry: SourceEntry | undefined, report: Report): '*' | string[] {
  const words = readTexts(entry, report)
  if (!entry || !words || words.includes('*')) return '*'
  for (const word of words) {
    if (SIGNAL_REASONS.includes(word)) continue
    report.problem(entry.value, `\`signal_reason\` cannot be "${word}"`, () => ({
      expected: `"*" or one of ${SIGNAL_REASONS.join(', ')}`,
      suggestion: nearestName(word, SIGNAL_REASONS),
    }))
  }
  return words
}

function readManual(entry: SourceEntry | undefined, report: Report): RetryRules['manual'] {
  if (entry?.value.kind !== 'map') {
    return { allowed: readBoolean(entry, report) ?? true, permitOnPassed: false, reason: null }
  }
  const attributes = readAttributes(
    entry.value,
    { owner: '`retry.manual`', names: ['allowed', 'permit_on_passed', 'reason'] },
    report,
  )
  return {
    allowed: readBoolean(attributes.get('allowed'), report) ?? true,
    permitOnPassed: readBoolean(attributes.get('permit_on_passed'), report) ?? false,
    reason: readText(attributes.get('reason'), report),
  }
}
