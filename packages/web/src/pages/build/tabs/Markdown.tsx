import { Marked } from 'marked'
import { useMemo } from 'react'
import { renderAnnotation } from './annotation-nodes.ts'
import { noLinks } from './artifact-links.ts'
import styles from './Annotations.module.css'

const markdown = new Marked({ gfm: true, breaks: true })
/** Deeper nesting takes time that grows faster than the text, so a longer one is shown as it is. */
const mostCharacters = 20_000

/** Markdown that a person typed, as annotations show it: HTML in it passes the same list. */
export function Markdown({ source }: { source: string }) {
  const content = useMemo(
    () =>
      source.length > mostCharacters
        ? source
        : renderAnnotation(markdown.parse(source, { async: false }), noLinks),
    [source],
  )
  return <div className={styles.body}>{content}</div>
}
