// The text editor of the page. It lives in a shadow root, where its styles are adopted sheets, which the policy allows.
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, linter, type Diagnostic } from '@codemirror/lint'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { EditorState, type Text } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { Checked, Mark } from './check.ts'

interface Options {
  place: ShadowRoot
  parent: HTMLElement
  text: string
  label: string
  onChange: (text: string) => void
  check: (text: string) => Promise<Checked>
  onChecked: (checked: Checked) => void
}

const lintDelayMs = 100

export function createEditor(options: Options): EditorView {
  const { place, parent, text, label, onChange, check, onChecked } = options
  const marks = linter(
    async ({ state }) => {
      const checked = await check(state.doc.toString())
      onChecked(checked)
      return checked.marks.map((mark) => toDiagnostic(mark, state.doc))
    },
    { delay: lintDelayMs },
  )
  return new EditorView({
    root: place,
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        bracketMatching(),
        indentUnit.of('  '),
        yaml(),
        syntaxHighlighting(colours),
        look,
        // Escape, then Tab leaves the editor.
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.updateListener.of(({ docChanged, state }) => docChanged && onChange(state.doc.toString())),
        marks,
      ],
    }),
  })
}

function toDiagnostic({ line, column, severity, text }: Mark, doc: Text): Diagnostic {
  const place = doc.line(Math.min(Math.max(line, 1), doc.lines))
  const from = Math.min(place.from + Math.max(column - 1, 0), place.to)
  return { from, to: place.to, severity, message: text }
}

const colours = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: 'var(--ansi-4)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--ansi-2)' },
  { tag: tags.comment, color: 'var(--faint)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--ansi-5)' },
  { tag: [tags.punctuation, tags.separator], color: 'var(--muted)' },
])

const look = EditorView.theme({
  '&': { height: '100%', background: 'var(--surface)', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { font: 'var(--text-log)' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { background: 'var(--sunken)', color: 'var(--faint)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'var(--hover)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--selected) !important',
  },
  '.cm-tooltip': { background: 'var(--surface)', border: '1px solid var(--border)', color: 'var(--text)' },
  '.cm-diagnostic': { font: 'var(--text-table)', maxWidth: '60ch', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--failed)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
  '.cm-panels': { background: 'var(--sunken)', color: 'var(--text)' },
})
