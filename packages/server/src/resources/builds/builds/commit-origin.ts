// Decides whose commit a request asks to build: the repository's own, unless the request names another repository or a pull
// request that its host has reported as a fork's.
import { sql } from 'kysely'
import type { CommitOrigin } from '../../../conductor/trust.ts'
import type { Db } from '../../../db/pool.ts'
import { hostOf, locate, portOf } from '../../../source-hosts/settings.ts'
import type { CreateBuildBody } from './schema.ts'

export async function findCommitOrigin(
  db: Db,
  organizationId: string,
  pipelineId: string,
  { pull_request_id: number, pull_request_repository: repository }: CreateBuildBody,
): Promise<CommitOrigin> {
  if (!number && !repository) return 'own'
  const { rows } = await sql<{ repository: string; is_fork: boolean }>`
    select p.repository, coalesce(r.is_fork, false) as is_fork from pipelines p
    left join pull_requests r on r.organization_id = p.organization_id and r.pipeline_id = p.id
      and r.number = ${String(number ?? '')}
    where p.organization_id = ${organizationId} and p.id = ${pipelineId}`.execute(db)
  const [pipeline] = rows
  if (pipeline === undefined || pipeline.is_fork) return 'fork'
  return !repository || isSameRepository(repository, pipeline.repository) ? 'own' : 'fork'
}

/** Compares addresses in all spellings: with `https`, `ssh` or `git@`, with `.git` or without. */
export function isSameRepository(one: string, other: string): boolean {
  if (one === other) return true
  const [left, right] = [placeOf(one), placeOf(other)]
  return left !== null && left === right && mayBeOnePort(one, other)
}

function placeOf(repository: string): string | null {
  const path = locate(repository.trim())?.path.toLowerCase()
  return path === undefined ? null : `${hostOf(repository.trim())}/${path}`
}

/** Two ports of a host name are two hosts. An address of ssh has the port of neither. */
function mayBeOnePort(one: string, other: string): boolean {
  const ports = [one, other].map((address) => portOf(address.trim())).filter((port) => port !== null)
  // `http` and `https` at their usual ports are one host.
  return new Set(ports.map((port) => (port === 80 ? 443 : port))).size < 2
}
