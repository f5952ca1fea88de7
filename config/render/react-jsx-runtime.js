import { JsxRuntime } from '/modules/react.bundle.js';
export default JsxRuntime;
export const { Fragment, jsx, jsxs } = JsxRuntime;
