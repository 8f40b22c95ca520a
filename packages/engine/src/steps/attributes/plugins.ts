import { describeNode, plainValue } from '../../source.ts'
import type { SourceEntry, SourceNode } from '../../source.ts'
import type { Report } from '../report.ts'
import type { Plugin } from '../types.ts'
import { isNull, wrong } from '../values.ts'

export function readPlugins(entry: SourceEntry | undefined, report: Report): Plugin[] {
  if (!entry || isNull(entry.value)) return []
  if (entry.value.kind === 'map') return entry.value.entries.map(readPlugin)
  if (entry.value.kind === 'scalar') {
    wrong(entry, 'a list of plugins', report)
    return []
  }
  return entry.value.items.flatMap((item) => readItem(item, report))
}

function readItem(item: SourceNode, report: Report): Plugin[] {
  if (item.kind === 'scalar' && typeof item.value === 'string' && item.value.trim() !== '') {
    return [{ source: item.value, config: null }]
  }
  if (item.kind !== 'map' || item.entries.length === 0) {
    report.problem(item, `\`plugins\` cannot contain ${describeNode(item)}`, {
      expected: '`name#version`, or `name#version:` with its settings below it',
    })
    return []
  }
  const second = item.entries[1]
  if (second) {
    // Documented pipelines have such items, so each key is a plugin.
    report.warning(second, `a plugin in the list has one key, but \`${second.key}\` stands beside it`, {
      expected: 'the settings of a plugin indented further than its name',
    })
  }
  return item.entries.map(readPlugin)
}

function readPlugin({ key, value }: SourceEntry): Plugin {
  return { source: key, config: plainValue(value) }
}
