import type { Static } from 'typebox'
import type { Context } from '../../../context.ts'
import { readServerName } from '../../../db/server-name.ts'
import type { Readings } from '../../../metrics/read-metrics.ts'
import { alertsOf } from './alerts.ts'
import type * as queries from './queries.ts'
import type { Installation } from './schema.ts'

type Shown = Static<typeof Installation>

interface Found {
  version: string
  row: queries.InstallationRow
  processes: Awaited<ReturnType<typeof queries.listProcesses>>
  organizations: Awaited<ReturnType<typeof queries.listOrganizations>>
  readings: Readings
}

export function presentInstallation(config: Context['config'], found: Found): Shown {
  const { version, row, processes, organizations, readings } = found
  return {
    version,
    url: config.url,
    processes: processes.map(({ name, ...more }) => ({ ...readServerName(name), ...more })),
    database: { kind: config.database.kind, version: row.database_version, bytes: row.database_bytes },
    store: storeOf(config),
    tasks: tasksOf(readings),
    unread_events: valueOf(readings, 'millrace_relay_unread_events'),
    pending_deliveries: valueOf(readings, 'millrace_deliveries_pending'),
    schedules: { enabled: row.enabled_schedules, next_build_at: row.next_build_at },
    alerts: alertsOf(readings),
    organizations,
    organizations_count: row.organizations,
    last_backup:
      row.last_backup_at === null ? null : { at: row.last_backup_at, bytes: row.last_backup_bytes ?? 0 },
  }
}

const storeOf = ({ blobs, dataDir }: Context['config']): Shown['store'] =>
  blobs.kind === 's3'
    ? { kind: 's3', place: `s3://${blobs.bucket}/${blobs.prefix}` }
    : { kind: 'disk', place: dataDir }

const valueOf = (readings: Readings, metric: string): number => readings.get(metric)?.[0]?.value ?? 0

function tasksOf(readings: Readings): Shown['tasks'] {
  const of = (name: string, kind: string) =>
    readings.get(`millrace_tasks_${name}`)?.find(({ label }) => label === kind)?.value ?? 0
  const kinds = (readings.get('millrace_tasks_waiting') ?? []).map(({ label }) => label).toSorted()
  return kinds.map((kind) => ({
    kind,
    waiting: of('waiting', kind),
    oldest_waiting_seconds: of('oldest_waiting_seconds', kind),
    retrying: of('retrying', kind),
    dead: of('dead', kind),
  }))
}
