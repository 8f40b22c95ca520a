import { nearestName } from '../nearest-name.ts'
import type { SourceEntry, SourceMap } from '../source.ts'
import type { Report } from './report.ts'

/** The attributes one kind of map may have. An alias is another spelling of a name. */
interface Vocabulary<Name extends string> {
  /** As in "`comand` is not an attribute of a command step". */
  owner: string
  names: readonly Name[]
  aliases?: Readonly<Record<string, Name>>
}

export interface Attributes<Name extends string> {
  get(name: Name): SourceEntry | undefined
}

/** Sorts a map's entries by attribute and reports those that are unknown or given twice. */
export function readAttributes<Name extends string>(
  map: SourceMap,
  vocabulary: Vocabulary<Name>,
  report: Report,
): Attributes<Name> {
  const found = new Map<Name, SourceEntry>()
  for (const entry of map.entries) {
    const name =
      vocabulary.names.find((candidate) => candidate === entry.key) ?? aliasOf(vocabulary, entry.key)
    if (name === undefined) {
      reportUnknown(entry, vocabulary, report)
      continue
    }
    const other = found.get(name)
    if (other) {
      report.problem(entry, `\`${other.key}\` and \`${entry.key}\` mean the same; give only one of them`)
    }
    found.set(name, entry)
  }
  return found
}

function aliasOf<Name extends string>(vocabulary: Vocabulary<Name>, key: string): Name | undefined {
  const aliases = vocabulary.aliases ?? {}
  return Object.hasOwn(aliases, key) ? aliases[key] : undefined
}

function reportUnknown(entry: SourceEntry, vocabulary: Vocabulary<string>, report: Report): void {
  report.problem(entry, `\`${entry.key}\` is not an attribute of ${vocabulary.owner}`, () => ({
    expected: `one of ${vocabulary.names
      .toSorted()
      .map((name) => `\`${name}\``)
      .join(', ')}`,
    suggestion: nearestName(entry.key, [...vocabulary.names, ...Object.keys(vocabulary.aliases ?? {})]),
  }))
}
