import { describeNode, findEntry } from '../../source.ts'
import type { SourceEntry, SourceList, SourceMap } from '../../source.ts'
import type { Report } from '../report.ts'
import { readPairs, wrong } from '../values.ts'

const SERVICE_PREFIX = 'BUILDKITE'
const OVERRIDABLE = new Set(['BUILDKITE_API_TOKEN', 'BUILDKITE_ANALYTICS_TOKEN'])
const MAX_KEY = 255

/** Variable name to secret key. A list uses each key as its own variable name. */
export function readSecrets(entry: SourceEntry | undefined, report: Report): Record<string, string> {
  if (!entry) return {}
  if (entry.value.kind === 'scalar') {
    wrong(entry, 'a list of secret keys, or a map of variable names to secret keys', report)
    return {}
  }
  const pairs = entry.value.kind === 'list' ? readList(entry, entry.value, report) : readPairs(entry, report)
  for (const [name, key] of pairs) {
    checkSecretKey(entry, key, report)
    if (name !== key && name.startsWith(`${SERVICE_PREFIX}_`) && !OVERRIDABLE.has(name)) {
      report.problem(entry.value, `a secret cannot be put into ${name}`, {
        expected: `a variable that does not start with ${SERVICE_PREFIX}_`,
      })
    }
  }
  return Object.fromEntries(pairs)
}

/** Keys, or the long form that uploaders make of them: `{key, environment_variable}`. */
function readList(entry: SourceEntry, list: SourceList, report: Report): Array<readonly [string, string]> {
  return list.items.flatMap((item) => {
    if (item.kind === 'scalar' && item.value !== null) return [[item.text, item.text] as const]
    const key = item.kind === 'map' ? textOf(item, 'key') : null
    if (item.kind === 'map' && key !== null)
      return [[textOf(item, 'environment_variable') ?? key, key] as const]
    report.problem(item, `\`${entry.key}\` cannot contain ${describeNode(item)}`, {
      expected: 'secret keys, or maps with `key` and `environment_variable`',
    })
    return []
  })
}

function textOf(map: SourceMap, name: string): string | null {
  const value = findEntry(map, name)?.value
  return value?.kind === 'scalar' && value.value !== null ? value.text : null
}

export function checkSecretKey(entry: SourceEntry, key: string, report: Report): void {
  if (
    /^[A-Za-z][A-Za-z0-9_]*$/.test(key) &&
    key.length <= MAX_KEY &&
    !key.toUpperCase().startsWith(SERVICE_PREFIX)
  ) {
    return
  }
  report.problem(entry.value, `"${key}" cannot be the key of a secret`, {
    expected: `a letter, then letters, digits and underscores, at most ${MAX_KEY}, not starting with ${SERVICE_PREFIX}`,
  })
}
