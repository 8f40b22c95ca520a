import { readProfiles } from '../profiles.ts'
import { showRows } from '../show.ts'

export async function listProfiles(options: { json?: true; color: boolean }): Promise<void> {
  const { current, profiles } = readProfiles()
  const rows = Object.entries(profiles)
    .map(([name, { url, org }]) => ({ name, url, org, current: name === current }))
    .toSorted((a, b) => a.name.localeCompare(b.name))
  await showRows(options, rows, 'You are not logged in to any server: run millrace login.', (style) => [
    { title: '', styled: (row) => (row.current ? style.paint('green', '*') : ' ') },
    { title: 'Profile', text: (row) => row.name },
    { title: 'Server', text: (row) => row.url },
    { title: 'Organization', text: (row) => row.org },
  ])
}
