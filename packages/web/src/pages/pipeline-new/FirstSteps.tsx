import { useState } from 'react'
import { StepsEditor } from '../../editor/StepsEditor.tsx'
import { CopyBlock } from '../../parts/Copy.tsx'
import { SelectField } from '../../parts/Field.tsx'
import { exampleSteps, repositorySteps } from './example.ts'
import styles from './page.module.css'

interface Props {
  onChange: (configuration: string) => void
  onChecked: (hasErrors: boolean) => void
}

type Source = 'repository' | 'here'

/** The steps of a new pipeline: those in the repository, unless somebody writes them here. */
export function FirstSteps({ onChange, onChecked }: Props) {
  const [source, setSource] = useState<Source>('repository')
  const choose = (next: Source) => {
    setSource(next)
    onChange(next === 'repository' ? repositorySteps : exampleSteps)
    onChecked(false)
  }
  return (
    <section className={styles.steps} aria-label="Steps">
      <h2>Steps</h2>
      <SelectField
        label="Where the steps are"
        value={source}
        onValue={(value) => choose(value === 'here' ? 'here' : 'repository')}
      >
        <option value="repository">Take the steps from the repository</option>
        <option value="here">Write the steps here</option>
      </SelectField>
      {source === 'here' ? (
        <StepsEditor text={exampleSteps} onChange={onChange} onChecked={onChecked} />
      ) : (
        <>
          <p>
            A build takes its steps from <code>.buildkite/pipeline.yml</code> of the commit that it builds, so
            they change with the code. A file to begin with:
          </p>
          <CopyBlock text={exampleSteps} label="pipeline file" />
        </>
      )}
    </section>
  )
}
