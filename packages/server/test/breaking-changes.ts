/** The changes in a migration that break the previous release, which may still run on the same database. */
export const findBreaking = (sql: string): string[] =>
  withoutRemade(sql)
    .toLowerCase()
    .replace(/--[^\n]*/g, '')
    .split(';')
    .map((statement) => statement.trim().replace(/\s+/g, ' '))
    .flatMap((statement) => {
      const [, changes] = /^alter table (?:if exists )?(?:only )?\S+ (.*)$/.exec(statement) ?? []
      if (changes !== undefined)
        return changes.split(/,(?![^(]*\))/).flatMap((change) => breakingChange(change.trim()))
      const [, dropped] = /^drop (table|type|view|materialized view|schema) /.exec(statement) ?? []
      if (dropped !== undefined) return [`drop ${dropped}`]
      return /^alter (?!table)\w+ .*\brename\b/.test(statement) ? ['rename'] : []
    })

/** A column that the same migration makes anew, such as one that is computed by another rule, is never missing. */
const withoutRemade = (sql: string): string =>
  sql.replace(/alter table (\S+) drop column (\w+);(?=\s*alter table \1 add column \2 )/gi, '')

function breakingChange(change: string): string[] {
  if (/^drop (?!constraint)/.test(change)) return ['drop column']
  if (change.startsWith('rename ')) return ['rename']
  if (/^alter (column )?\S+ (set data )?type /.test(change)) return ['alter column type']
  if (/^alter .* set not null/.test(change)) return ['set not null']
  const isColumn = /^add (?!constraint|primary|unique|foreign|check|exclude)/.test(change)
  const isFilled = /\b(default|generated)\b/.test(change)
  return isColumn && / not null/.test(change) && !isFilled ? ['add column not null without default'] : []
}
