// Draws the OpenAPI document: no request to anywhere but here.
const element = (name, text, ...children) => {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
};

const short = (schema) => {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.type === "array") return `${short(schema.items)}[]`;
  return Array.isArray(schema.type) ? schema.type.join(" | ") : schema.type || "any";
};

const fields = (schema, all) => {
  const whole = schema && schema.$ref ? all[schema.$ref.split("/").pop()] : schema;
  const table = element("table");
  for (const [name, field] of Object.entries((whole && whole.properties) || {})) {
    const needed = ((whole && whole.required) || []).includes(name) ? "" : " (optional)";
    table.append(element("tr", "", element("td", name), element("td", short(field) + needed), element("td", field.description || "")));
  }
  return table;
};

const draw = (api) => {
  const all = (api.components && api.components.schemas) || {};
  const list = element("div");
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, route] of Object.entries(methods)) {
      const details = element("details");
      const title = element("summary", "", element("span", `${method.toUpperCase()} ${path}`), element("span", ` – ${route.summary || route.description || ""}`));
      title.firstChild.className = "path";
      details.append(title);
      const parameters = element("table");
      for (const parameter of route.parameters || []) {
        parameters.append(element("tr", "", element("td", parameter.name), element("td", parameter.in), element("td", parameter.description || "")));
      }
      details.append(parameters);
      const body = route.requestBody && route.requestBody.content["application/json"];
      if (body) details.append(element("h3", `Body: ${short(body.schema)}`), fields(body.schema, all));
      for (const [status, answer] of Object.entries(route.responses || {})) {
        const content = answer.content && Object.values(answer.content)[0];
        details.append(element("h3", `${status} ${answer.description || ""}`));
        if (content && !status.includes("X")) details.append(fields(content.schema, all));
      }
      list.append(details);
    }
  }
  document.getElementById("routes").replaceChildren(list);
};

fetch("/openapi.json").then((answer) => answer.json()).then(draw).catch((error) => {
  document.getElementById("routes").textContent = `/openapi.json cannot be read: ${error}`;
});
