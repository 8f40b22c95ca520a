import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { hostOf, hostSettings, locate, type Settings } from '../../source-hosts/settings.ts'
import { appOf, type App } from '../../source-hosts/github/installation-token.ts'
import * as connections from '../../resources/pipelines/repository_connections/queries.ts'
import { isAt, readHttpUrl } from '../../resources/pipelines/repository_connections/reading.ts'
import type { RunningJob } from '../tokens.ts'

/** The repository of a job's pipeline, at a host that has a connection. */
export interface JobRepository {
  host: string
  /** With the port, where it is not https's usual one. */
  origin: string
  /** `owner/name` */
  path: string
  commit: string
  /** Whether the pipeline lets its jobs have workflow access tokens. */
  mayHaveTokens: boolean
  connection: connections.ConnectionRow
  /** Null: the connection is not by a GitHub App. */
  app: App | null
}

export async function findRepository(ctx: Context, job: RunningJob): Promise<JobRepository | null> {
  const { rows } = await sql<{ repository: string; settings: Settings; commit: string }>`
    select p.repository, p.provider_settings as settings, b.commit
    from builds b join pipelines p on p.id = b.pipeline_id
    where b.organization_id = ${job.organizationId} and b.id = ${job.buildId}`.execute(ctx.db)
  const [found] = rows
  const host = found && hostOf(found.repository)
  const path = found && locate(found.repository)?.path
  if (!host || !path) return null
  const connection = await connections.findOfRepository(ctx.db, job.organizationId, found.repository)
  if (connection === undefined) return null
  const origin = originOf(found.repository)
  const url = readHttpUrl(found.repository)
  if (url !== null && !isAt(connection, url)) return null
  return {
    host,
    origin,
    path,
    commit: found.commit,
    mayHaveTokens: hostSettings(found.settings).github_workflow_access_tokens_enabled,
    connection,
    app: appOf(connection),
  }
}

/** Whether everything that a token depends on is the same. */
export function isUnchanged(before: JobRepository, now: JobRepository): boolean {
  const essentials = ({ host, origin, path, mayHaveTokens, app }: JobRepository) =>
    JSON.stringify([host, origin, path, mayHaveTokens, app && { ...app, sealed: null, keyId: null }])
  return essentials(before) === essentials(now)
}

export const isSame = (url: string, { host, origin, path }: JobRepository): boolean =>
  hostOf(url) === host && originOf(url) === origin && locate(url)?.path.toLowerCase() === path.toLowerCase()

/** An address of ssh stands for the host itself. */
function originOf(repository: string): string {
  const url = readHttpUrl(repository)
  return url === null || url.port === '' ? 'https' : `${url.protocol}${url.port}`
}
