// The spans of statements: what they do with which tables, never their values.
import type { SpanOptions } from '../lib/tracing.ts'

const mostSummaries = 1000
const summaries = new Map<string, string>()
const mostTables = 3

/** The span of statements that are sent together. Those of the transaction itself are not named. */
export function statementSpan(texts: readonly string[]): SpanOptions {
  const named = texts.filter((text) => !/^(begin|commit|rollback|set)\b/.test(text)).map(summaryOf)
  const [first = summaryOf(texts[0] ?? '')] = named
  return {
    name: named.length > 1 ? `${first} and ${named.length - 1} more` : first,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.query.summary': [...new Set(named)].join('; ').slice(0, 1000) || first,
      ...(texts.length > 1 ? { 'db.operation.batch.size': texts.length } : {}),
    },
  }
}

/** Such as `SELECT jobs, cluster_queues`. */
function summaryOf(text: string): string {
  const known = summaries.get(text)
  if (known !== undefined) return known
  const plain = text.replaceAll('"', '')
  const operation = /^\s*(\w+)/.exec(plain)?.[1]?.toUpperCase() ?? 'SQL'
  const ownNames = new Set(
    [...plain.matchAll(/\b(\w+)(?:\s*\([^()]*\))?\s+as\s+(?:materialized\s+)?\(/gi)].map(([, name]) => name),
  )
  const tables = [...plain.matchAll(/\b(?:from|join|into|update)\s+(?:only\s+)?([a-z_][\w.]*)\b(?!\()/gi)]
    .map(([, name = '']) => name)
    .filter((name) => !ownNames.has(name) && !keywords.has(name.toLowerCase()))
  const summary = [operation, [...new Set(tables)].slice(0, mostTables).join(', ')].join(' ').trim()
  if (summaries.size < mostSummaries) summaries.set(text, summary)
  return summary
}

const keywords = new Set(['lateral', 'set', 'of', 'skip', 'select'])
