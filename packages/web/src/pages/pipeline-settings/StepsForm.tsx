import { useState } from 'react'
import { StepsEditor } from '../../editor/StepsEditor.tsx'
import { Form } from '../../parts/Field.tsx'
import { SaveBar } from './SaveBar.tsx'
import { useUpdatePipeline, type Pipeline } from './update.ts'

export function StepsForm({ org, pipeline }: { org: string; pipeline: Pipeline }) {
  const [text, setText] = useState(pipeline.configuration)
  const [hasErrors, setHasErrors] = useState(false)
  const update = useUpdatePipeline(org, pipeline)
  return (
    <Form onSubmit={() => update.mutate({ configuration: text })}>
      <StepsEditor text={pipeline.configuration} onChange={setText} onChecked={setHasErrors} />
      <SaveBar
        isChanged={text !== pipeline.configuration}
        isSaving={update.isPending}
        error={update.error}
        disabledReason={hasErrors ? 'Mend the steps first' : undefined}
      />
    </Form>
  )
}
