import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { TextField } from '../../parts/Field.tsx'
import { showLabel } from '../../parts/labels.ts'
import { findPipelineSlugs } from './queries.ts'

interface Props {
  org: string
  label: string
  value: string
  onValue: (value: string) => void
}

/** A pipeline by the last word of its address. Those that match what is typed are proposed. */
export function PipelineField({ org, label, value, onValue }: Props) {
  const listId = useId()
  const { data: found = [] } = useQuery({
    queryKey: ['GET /v2/organizations/{org}/pipelines', { org }, 'slugs', value],
    queryFn: ({ signal }) => findPipelineSlugs(org, value, signal),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <TextField
        label={label}
        value={value}
        required
        maxLength={100}
        list={listId}
        autoComplete="off"
        hint="The last word of its address."
        onValue={onValue}
      />
      <datalist id={listId}>
        {found.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {showLabel(name)}
          </option>
        ))}
      </datalist>
    </>
  )
}
