import { useState } from 'react'
import { CopyBlock } from '../../parts/Copy.tsx'
import { SelectField } from '../../parts/Field.tsx'
import { commandsFor, tools, writtenToken, type Tool } from './sending.ts'
import styles from './SendResults.module.css'

const isTool = (value: string): value is Tool => Object.hasOwn(tools, value)

/** The token of a suite, and what to paste into a shell to send results with it. */
export function SendResults({ token }: { token: string }) {
  const [tool, setTool] = useState<Tool>('pytest')
  return (
    <div className={styles.parts}>
      <CopyBlock text={writtenToken(token)} label="token" />
      <SelectField
        label="Tests are run with"
        value={tool}
        onValue={(value) => {
          if (isTool(value)) setTool(value)
        }}
      >
        {Object.entries(tools).map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </SelectField>
      <CopyBlock text={commandsFor(tool, window.location.origin)} label="commands" />
    </div>
  )
}
