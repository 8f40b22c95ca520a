import { useInfiniteQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import type { BuildAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import type { JobTable } from '../../../graph/jobs/job-table.ts'
import { Button } from '../../../parts/Button.tsx'
import { TextField } from '../../../parts/Field.tsx'
import { ArtifactList } from './ArtifactList.tsx'
import { artifactsQuery } from '../queries.ts'
import styles from '../Content.module.css'

interface Props {
  address: BuildAddress
  table: JobTable
  isRunning: boolean
}

export function Artifacts({ address, table, isRunning }: Props) {
  const [text, setText] = useState('')
  const path = useDeferredValue(text.trim())
  const list = useInfiniteQuery({
    ...artifactsQuery(address, path === '' ? undefined : globOf(path)),
    refetchInterval: isRunning ? 15_000 : false,
  })
  const jobOf = ({ job_id: id }: Schemas['Artifact']) => (
    <a href={`#${id}`}>{table.job(id)?.name ?? 'a job'}</a>
  )
  return (
    <div className={styles.stack}>
      <TextField
        label="Filter by path"
        type="search"
        value={text}
        placeholder="report or **/*.xml"
        onValue={setText}
      />
      <ArtifactList
        list={list}
        jobOf={jobOf}
        empty={
          path === ''
            ? { title: 'No artifacts', hint: 'Steps name the files to keep in artifact_paths.' }
            : {
                title: `No artifact matches “${path}”.`,
                action: <Button onClick={() => setText('')}>Clear filter</Button>,
              }
        }
      />
    </div>
  )
}

/** Plain words match anywhere in the path. */
const globOf = (text: string) => (/[*?[\]{}]/.test(text) ? text : `**/*${text}*`)
