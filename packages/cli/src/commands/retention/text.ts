// Retention in sentences for people.
import type { previewRetention, runRetention, showRetention } from '@millrace/server/main.ts'

type Shown = Awaited<ReturnType<typeof showRetention>>
type Previewed = Awaited<ReturnType<typeof previewRetention>>
type Done = Awaited<ReturnType<typeof runRetention>>

export function settingsText({ effective, ...own }: Shown): string {
  const names = Object.keys(effective) as Array<keyof typeof effective>
  const width = Math.max(...names.map((name) => name.length))
  return names
    .map((name) => {
      const inherited = own[name] === null ? ' (inherited)' : ''
      return `${name.padEnd(width)}  ${shownValue(name, effective[name])}${inherited}`
    })
    .join('\n')
}

const shownValue = (name: string, value: number | boolean): string => {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return name.endsWith('_days') && value === 0 ? 'no limit' : String(value)
}

const kinds = ['builds', 'logs', 'artifacts', 'archived_builds', 'test_runs'] as const

export function previewText(preview: Previewed): string {
  const lines = kinds.flatMap((kind) => {
    const { count, blob_bytes, database_bytes, oldest, newest } = preview[kind]
    if (count === 0) return []
    const inDatabase = database_bytes === 0 ? '' : `about ${size(database_bytes)} in the database, `
    const ended = `builds that ended ${day(oldest)} to ${day(newest)}`
    return [`${kind}: ${count}; ${inDatabase}${size(blob_bytes)} of objects; ${ended}`]
  })
  if (lines.length === 0) return 'Nothing is due.'
  const { count, archived_count } = preview.builds
  const archived = count === 0 ? [] : [`Of the builds, ${archived_count} would be archived first.`]
  const pipelines = preview.pipelines.map(({ slug, builds, logs, artifacts, archived_builds }) => {
    const counts = { builds, logs, artifacts, archived_builds }
    const parts = Object.entries(counts).flatMap(([kind, part]) =>
      part.count === 0 ? [] : [`${part.count} ${kind}`],
    )
    return `  ${slug}: ${parts.join(', ')}`
  })
  return ['Would be deleted now:', ...lines, ...archived, ...pipelines].join('\n')
}

export function doneText(done: Done): string {
  const parts = kinds.flatMap((kind) => (done[kind].count === 0 ? [] : [`${done[kind].count} ${kind}`]))
  const bytes = kinds.reduce((sum, kind) => sum + done[kind].blob_bytes, 0)
  const deleted =
    parts.length === 0 ? 'Nothing was due.' : `Deleted ${parts.join(', ')}; ${size(bytes)} of objects.`
  if (done.busy.length === 0) return deleted
  return `${deleted}\nA worker is at work on ${done.busy.join(', ')}; run this again if something is left.`
}

const day = (time: string | null) => time?.slice(0, 10) ?? ''

const units = ['bytes', 'KB', 'MB', 'GB', 'TB']

function size(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${units[power]}`
}
