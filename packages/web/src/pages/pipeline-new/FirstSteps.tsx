import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { StepsEditor } from '../../editor/StepsEditor.tsx'
import { CopyBlock } from '../../parts/Copy.tsx'
import { SelectField } from '../../parts/Field.tsx'
import { showLabel } from '../../parts/labels.ts'
import { templatesQuery } from '../pipeline-template/queries.ts'
import { exampleSteps, repositorySteps } from './example.ts'
import styles from './page.module.css'

/** What the new pipeline begins with. */
export type Steps = { configuration: string } | { pipeline_template_uuid: string }

interface Props {
  org: string
  onChange: (steps: Steps) => void
  onChecked: (hasErrors: boolean) => void
}

/** The steps of a new pipeline: those in the repository, unless somebody writes them here or takes a template. */
export function FirstSteps({ org, onChange, onChecked }: Props) {
  const { data: templates = [] } = useQuery(templatesQuery(org))
  /** Or the UUID of a template. */
  const [source, setSource] = useState('repository')
  const template = templates.find(({ uuid }) => uuid === source)
  const choose = (next: string) => {
    setSource(next)
    if (next === 'repository') onChange({ configuration: repositorySteps })
    else if (next === 'here') onChange({ configuration: exampleSteps })
    else onChange({ pipeline_template_uuid: next })
    onChecked(false)
  }
  return (
    <section className={styles.steps} aria-label="Steps">
      <h2>Steps</h2>
      <SelectField label="Where the steps are" value={source} onValue={choose}>
        <option value="repository">Take the steps from the repository</option>
        <option value="here">Write the steps here</option>
        {templates.map(({ uuid, name }) => (
          <option key={uuid} value={uuid}>
            Take the template {showLabel(name)}
          </option>
        ))}
      </SelectField>
      {source === 'here' && (
        <StepsEditor
          text={exampleSteps}
          onChange={(configuration) => onChange({ configuration })}
          onChecked={onChecked}
        />
      )}
      {source === 'repository' && (
        <>
          <p>
            A build takes its steps from <code>.buildkite/pipeline.yml</code> of the commit that it builds, so
            they change with the code. A file to begin with:
          </p>
          <CopyBlock text={exampleSteps} label="pipeline file" />
        </>
      )}
      {template !== undefined && (
        <>
          <p>{template.description || 'The steps follow the template: when it is changed, so are they.'}</p>
          <CopyBlock text={template.configuration} label="steps of the template" />
        </>
      )}
    </section>
  )
}
