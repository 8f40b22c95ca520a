import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { query } from '../../api/queries.ts'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { showLabel } from '../../parts/labels.ts'
import { SearchBox } from '../../parts/SearchBox.tsx'
import type { Connection } from '../connections/queries.ts'
import styles from './page.module.css'

const repositories = '/v2/organizations/{org}/repository_connections/{connection}/repositories'
export type Repository = Answer<`GET ${typeof repositories}`>[number]

interface Props {
  org: string
  connection: Connection
  chosen: Repository | null
  onChoose: (repository: Repository | null) => void
}

/** One of the repositories that the token of a connection sees. */
export function ConnectedRepository({ org, connection, chosen, onChoose }: Props) {
  const [search, setSearch] = useState('')
  const [workspace, setWorkspace] = useState('')
  const isBitbucket = connection.type === 'bitbucket'
  // GitHub lists all, and finds one only by its full name.
  const isGithub = connection.type.startsWith('github')
  const isWhole = /^[^/]+\/[^/]+$/.test(search)
  const { data, error, isFetching } = useQuery({
    ...query(`GET ${repositories}`, {
      params: { org, connection: connection.id },
      query: {
        per_page: 100,
        ...(isBitbucket ? { workspace } : {}),
        ...(search === '' || (isGithub && !isWhole) ? {} : isGithub ? { repository: search } : { search }),
      },
    }),
    enabled: !isBitbucket || workspace !== '',
  })
  const found = (data ?? []).filter(({ full_name: name }) =>
    name.toLowerCase().includes(search.toLowerCase()),
  )
  const shown =
    chosen === null || found.some((one) => one.clone_url === chosen.clone_url) ? found : [chosen, ...found]
  return (
    <div className={styles.steps}>
      {isBitbucket && (
        <TextField
          label="Workspace"
          value={workspace}
          hint="Bitbucket lists the repositories of one."
          onValue={(name) => setWorkspace(name.trim())}
        />
      )}
      <SearchBox
        label={isGithub ? 'Find a repository, or name one as owner/name' : 'Find a repository'}
        text={search}
        onSearch={setSearch}
      />
      <SelectField
        label="Repository"
        required
        value={chosen?.clone_url ?? ''}
        aria-busy={isFetching || undefined}
        problem={error?.message}
        hint={hintOf(isFetching, found.length)}
        onValue={(url) => onChoose(shown.find((one) => one.clone_url === url) ?? null)}
      >
        <option value="">Choose one</option>
        {shown.map(({ clone_url: url, full_name: name }) => (
          <option key={url} value={url}>
            {showLabel(name)}
          </option>
        ))}
      </SelectField>
    </div>
  )
}

function hintOf(isFetching: boolean, count: number): string {
  if (isFetching) return 'Asking the host…'
  if (count === 0) return 'The host shows none.'
  return count === 100 ? 'The first 100. Search for another one.' : `${count} found.`
}
