import type { Member } from '@millrace/server/wire.ts'
import { listAll, openApi } from '../api.ts'
import type { ClientOptions } from '../command.ts'
import { showRows } from '../show.ts'

export async function listUsers(options: ClientOptions): Promise<void> {
  const api = await openApi(options)
  const rows = await listAll(api.pages<Member>('members'))
  await showRows(options, rows, `${api.org} has no members.`, () => [
    { title: 'Name', text: ({ name }) => name, least: 12 },
    { title: 'Email', text: ({ email }) => email, least: 16 },
    { title: 'Role', text: ({ role }) => role },
    { title: 'Id', text: ({ id }) => id },
  ])
}
