import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { TextField } from '../../../parts/Field.tsx'
import { showLabel } from '../../../parts/labels.ts'
import { findSubjects, subjectsKey, type SubjectKind } from './subjects.ts'

interface Props {
  org: string
  kind: SubjectKind
  value: string
  problem: string | undefined
  onValue: (value: string) => void
}

/** A pipeline or team by the last word of its address, or by its name. Those that match what is typed are proposed. */
export function SubjectField({ org, kind, value, problem, onValue }: Props) {
  const listId = useId()
  const { data: found = [] } = useQuery({
    queryKey: subjectsKey(org, kind, value),
    queryFn: ({ signal }) => findSubjects(org, kind, value, signal),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <TextField
        label={kind === 'team' ? 'Team' : 'Pipeline'}
        value={value}
        required
        maxLength={255}
        list={listId}
        autoComplete="off"
        placeholder="Name, or last word of its address"
        problem={problem}
        onValue={onValue}
      />
      <datalist id={listId}>
        {found.map(({ id, name, slug }) => (
          <option key={id} value={slug}>
            {showLabel(name)}
          </option>
        ))}
      </datalist>
    </>
  )
}
