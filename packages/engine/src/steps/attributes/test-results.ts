import { compileGlob } from '../../globs.ts'
import type { SourceEntry } from '../../source.ts'
import type { Report } from '../report.ts'
import { readTexts } from '../values.ts'

/** Patterns as `artifact_paths` has them: a list, or separated by semicolons. */
export function readTestResults(entry: SourceEntry | undefined, report: Report): string[] {
  if (!entry) return []
  if (entry.value.kind === 'map') {
    report.problem(entry.value, '`test_results` cannot be a map', {
      expected: 'a pattern such as `report-*.xml`, or a list of patterns',
    })
    return []
  }
  const patterns = (readTexts(entry, report) ?? []).flatMap(patternsIn)
  for (const pattern of patterns) {
    if (compileGlob(pattern) !== null) continue
    report.problem(entry.value, `\`test_results\` has the malformed pattern "${pattern}"`)
  }
  return patterns
}

/** Separated by semicolons. */
export function patternsIn(text: string): string[] {
  return text
    .split(';')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '')
}
