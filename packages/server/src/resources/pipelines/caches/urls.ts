// Where agents read and write the blobs of caches: at the store itself if it can sign URLs, and otherwise at this server, with
// a ticket. Addresses at this server are relative to the endpoint that the agent uses.
import type { Context } from '../../../context.ts'
import { issueTicket } from '../../../auth/tickets.ts'

/** A large cache over a slow connection. */
const lifetimeSeconds = 6 * 60 * 60

const shown = { contentType: 'application/octet-stream', disposition: 'attachment' }

export const blobKey = (orgId: string, pipelineId: string, uploadId: string): string =>
  `caches/${orgId}/${pipelineId}/${uploadId}`

export async function readUrl(ctx: Context, key: string): Promise<string> {
  const { direct } = ctx.blobs
  if (direct !== null) return direct.getUrl(key, lifetimeSeconds, shown)
  return `${key}?ticket=${issueTicket(ctx, 'cache read', key, lifetimeSeconds)}`
}

export async function writeUrl(ctx: Context, key: string, mostBytes: number): Promise<string> {
  const { direct } = ctx.blobs
  if (direct !== null) return direct.putUrl(key, lifetimeSeconds)
  const ticket = issueTicket(ctx, 'cache write', `${key} ${mostBytes}`, lifetimeSeconds)
  return `${key}?most=${mostBytes}&ticket=${ticket}`
}
