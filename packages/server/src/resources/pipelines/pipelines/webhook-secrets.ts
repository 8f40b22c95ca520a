// The secrets of webhooks that Millrace has created at hosts, each of one pipeline alone. A new one is stored before the host gets
// it: the host may use it although its answer did not arrive. Until the host has said that it took it, the old one counts too.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Keyring } from '../../../auth/keyring.ts'
import type { Context } from '../../../context.ts'
import type { Db, Trx } from '../../../db/pool.ts'

/** A secret counts only while its pipeline has the repository that it was made for. */
interface KeyedPipeline {
  id: string
  organization_id: string
  repository: string
}

interface SecretRow {
  is_current: boolean
  secret_sealed: Buffer
  secret_key_id: string
}

interface WebhookSecret {
  secret: string
  /** Whether the host is known to sign with it. */
  isCurrent: boolean
}

export async function listWebhookSecrets(
  db: Db,
  keys: Keyring,
  { id, organization_id, repository }: KeyedPipeline,
): Promise<WebhookSecret[]> {
  const { rows } = await sql<SecretRow>`
    select is_current, secret_sealed, secret_key_id from webhook_secrets
    where organization_id = ${organization_id} and pipeline_id = ${id} and repository = ${repository}`.execute(
    db,
  )
  return rows.map((row) => ({
    secret: keys.open(row.secret_sealed, row.secret_key_id),
    isCurrent: row.is_current,
  }))
}

/** The next secret. One that was made before and that no host has confirmed is taken again, so that there are never more than two. */
export async function makeWebhookSecret(
  ctx: Context,
  { id, organization_id, repository }: KeyedPipeline,
): Promise<string> {
  const { sealed, keyId } = ctx.keys.seal(randomBytes(32).toString('hex'))
  const { rows } = await sql<SecretRow>`
    insert into webhook_secrets as kept
      (pipeline_id, is_current, organization_id, repository, secret_sealed, secret_key_id, created_at)
    values (${id}, false, ${organization_id}, ${repository}, ${sealed}, ${keyId}, ${ctx.now().toISOString()})
    on conflict (pipeline_id, is_current) do update set repository = excluded.repository,
      (secret_sealed, secret_key_id, created_at) = (
        select case when same then kept.secret_sealed else excluded.secret_sealed end,
          case when same then kept.secret_key_id else excluded.secret_key_id end,
          case when same then kept.created_at else excluded.created_at end
        from (select kept.repository = excluded.repository as same) as compared)
    returning is_current, secret_sealed, secret_key_id`.execute(ctx.db)
  const [made] = rows
  if (made === undefined) throw new Error('A webhook secret was not stored.')
  return ctx.keys.open(made.secret_sealed, made.secret_key_id)
}

/** The host has taken the next secret, so the last one counts no longer. */
export async function confirmWebhookSecret(
  trx: Trx,
  { id, organization_id }: KeyedPipeline,
  at: string,
): Promise<void> {
  // Another request may have confirmed it already; then its row is the current one.
  await sql`
    delete from webhook_secrets where organization_id = ${organization_id} and pipeline_id = ${id} and is_current
      and exists (
        select from webhook_secrets n
        where n.organization_id = ${organization_id} and n.pipeline_id = ${id} and not n.is_current)`.execute(
    trx,
  )
  await sql`
    update webhook_secrets set is_current = true, created_at = ${at}
    where organization_id = ${organization_id} and pipeline_id = ${id} and not is_current`.execute(trx)
}

export async function deleteWebhookSecrets(trx: Trx, { id, organization_id }: KeyedPipeline): Promise<void> {
  await sql`delete from webhook_secrets where organization_id = ${organization_id} and pipeline_id = ${id}`.execute(
    trx,
  )
}

/** When the host took it; null: the webhook has none of its own. */
export async function findSecretTime(
  db: Db,
  { id, organization_id, repository }: KeyedPipeline,
): Promise<string | null> {
  const { rows } = await sql<{ created_at: string }>`
    select created_at from webhook_secrets
    where organization_id = ${organization_id} and pipeline_id = ${id} and repository = ${repository} and is_current`.execute(
    db,
  )
  return rows[0]?.created_at ?? null
}
