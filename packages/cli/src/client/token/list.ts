import type { UserAccessToken } from '@millrace/server/wire.ts'
import { apiOf, listAll } from '../api.ts'
import type { ClientOptions } from '../command.ts'
import { findAccess } from '../profiles.ts'
import { showRows } from '../show.ts'
import { describeAge, describeExpiry } from '../times.ts'

export async function listTokens(options: ClientOptions): Promise<void> {
  const api = apiOf(findAccess(options))
  const rows = await listAll(api.pages<UserAccessToken>('/v2/user/access-tokens'))
  await showRows(options, rows, 'You have no tokens.', (style) => [
    { title: '', styled: ({ current }) => (current ? style.paint('green', '*') : ' ') },
    { title: 'Token', text: ({ id }) => id },
    { title: 'Description', text: ({ description }) => description || null, least: 12 },
    {
      title: 'Scopes',
      text: ({ scopes }) => (scopes.length > 2 ? `${scopes.length} scopes` : scopes.join(', ')),
      least: 9,
    },
    {
      title: 'Organizations',
      text: ({ organization_slugs }) => organization_slugs?.join(', ') ?? 'all',
      least: 8,
    },
    { title: 'Last used', text: ({ last_used_at }) => describeAge(last_used_at) },
    { title: 'Expires', text: ({ expires_at }) => describeExpiry(expires_at) },
  ])
}
