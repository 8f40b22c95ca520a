import { useEffect, useRef } from 'react'
import type { Checked } from './check.ts'
import { startChecker } from './checker.ts'
import { createEditor } from './code-mirror.ts'
import styles from './PipelineEditor.module.css'

interface Props {
  /** The text at the beginning; later changes of it are not shown. */
  text: string
  onChange: (text: string) => void
  onChecked: (checked: Checked) => void
}

/** A text editor that marks what the server would refuse, as somebody types. */
export function PipelineEditor({ text, onChange, onChecked }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef({ text, onChange, onChecked })
  useEffect(() => {
    latest.current = { text: latest.current.text, onChange, onChecked }
  }, [onChange, onChecked])
  useEffect(() => {
    const element = host.current
    if (element === null) return
    const place = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const parent = document.createElement('div')
    parent.style.height = '100%'
    place.replaceChildren(parent)
    const checker = startChecker()
    const view = createEditor({
      place,
      parent,
      text: latest.current.text,
      label: 'Steps of the pipeline, in YAML',
      onChange: (next) => latest.current.onChange(next),
      check: checker.check,
      onChecked: (checked) => latest.current.onChecked(checked),
    })
    return () => {
      view.destroy()
      checker.stop()
    }
  }, [])
  return <div ref={host} className={styles.editor} data-part="pipeline-editor" />
}
